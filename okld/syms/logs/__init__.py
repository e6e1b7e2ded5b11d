"""Logs: lines that hold addresses get names, every other byte passes through. Source: LOG-n."""
