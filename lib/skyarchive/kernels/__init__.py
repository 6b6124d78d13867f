"""Compiled kernels on plain arrays, without Spark. Only `external` reads files, a batch at a time: its rows are more
than memory holds, and what it is measured by is how often it reads them."""
