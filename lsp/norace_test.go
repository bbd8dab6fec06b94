//go:build !race

package lsp_test

// largeText is the size of a text that takes much longer to decode than a short one.
const largeText = 2 << 20
