"""The database backend of an installation that names none: commands that need no database still work."""
