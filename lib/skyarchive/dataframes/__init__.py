"""Skylines of any Spark DataFrame."""
