"""Charts: functions that draw on Matplotlib axes and return them; pictures of their own."""
