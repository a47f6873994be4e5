"""The memory tools over the Model Context Protocol, in a process of its own (design: MCP).

A second wording of the REST routes: a call becomes the same command for the same service under the same
admission, and what comes back is the JSON of the REST answer.
"""
