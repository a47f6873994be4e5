"""The dashboard's frame: signing in, the workspace someone works in, and the page every other page derives from."""
