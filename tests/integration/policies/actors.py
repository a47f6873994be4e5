"""Who does things in these tests."""

from omnia.core.actor import Actor

OPERATOR = Actor(name="system:test")
