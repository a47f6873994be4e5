"""The Memories pages: finding, reading and forgetting what a scope holds."""
