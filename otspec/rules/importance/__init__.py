"""Importance sampling (Khisti et al.): its linear program solved by flows."""
