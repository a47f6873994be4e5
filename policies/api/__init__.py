"""The HTTP routes of policies, workspaces and tokens."""
