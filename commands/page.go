package commands

import (
	"cmp"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// checkRange checks a limit, whose default is nil.
func checkRange(field string, limit *int, most int) error {
	if limit == nil || *limit >= 1 && *limit <= most {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%q must be from 1 to %d, not %d.", field, most, *limit).With("field", field)
}

// checkPage checks the limits of a page of at most that many items.
func checkPage(limit, maxBytes *int, most int) error {
	return cmp.Or(checkRange("limit", limit, most), checkRange("maxBytes", maxBytes, paging.MaxBytes))
}

// limits returns the limits of a page; items is the default of limit.
func limits(limit, maxBytes *int, items int) paging.Limits {
	return paging.Limits{Items: valueOr(limit, items), Bytes: valueOr(maxBytes, paging.MaxBytes)}
}

// valueOr returns what p points to, or the default for nil.
func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
