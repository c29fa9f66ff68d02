"""The contract between the programs: records, runs, results, and their names."""
