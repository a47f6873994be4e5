"""The embedded PostgreSQL 18 with pgvector, and Redis: what runs where no DATABASE_URL and REDIS_URL are set.

Both come as wheels, answer on unix sockets only, and keep everything in one folder (`.omnia/` for
`make run`). The programs are started straight from the wheels' folders: importing the packages
would touch lock files that all users of a machine share.
"""
