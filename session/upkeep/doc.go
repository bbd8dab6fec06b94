// Package upkeep moves, trashes, restores and purges sessions, and collects the garbage they leave.
package upkeep
