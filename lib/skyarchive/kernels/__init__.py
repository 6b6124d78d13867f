"""Compiled kernels on plain arrays: no Spark, no input or output."""
