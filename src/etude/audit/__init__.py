"""What can be had of a suite without the ability it tests: cheats, broken episodes, leaks between splits."""
