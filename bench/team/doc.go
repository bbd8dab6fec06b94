// Package team measures the store of a team against the same work without its functions, in one run: only the ratios count, because
// machines differ and are shared. The tests use a PostgreSQL server of their own that syncs its files.
//
//	go test ./bench/team                          small numbers, and wide limits
//	XCSH_BENCH_BIG=1 go test -v ./bench/team      those of bench/README.md
//
// cost.sh measures the cost for a user without a store.
package team
