"""Driving by hand: a person moves the robot from a page in the browser, and what is kept becomes a dataset of demonstrations."""
