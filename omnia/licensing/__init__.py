"""Which edition this installation runs, and what that opens."""
