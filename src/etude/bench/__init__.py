"""Speed, measured: every case is one line of JSON, beside a reference measured in the same loop."""
