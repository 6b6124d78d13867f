"""Delta tables: contracts, writing through Spark, reading through delta-rs and DuckDB, publications, lock."""
