"""Those who act by themselves, following logs."""
