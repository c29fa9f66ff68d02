"""The data that the programs exchange: records, runs, results, and their names."""
