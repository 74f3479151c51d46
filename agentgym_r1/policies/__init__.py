"""Policies that play the environments, and the engines behind them."""
