"""Omnia Memory: the memory service AI-agent platforms trust with what they know about people."""

__version__ = "0.1.0"
