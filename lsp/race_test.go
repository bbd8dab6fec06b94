//go:build race

package lsp_test

// largeText is smaller under the race detector, which makes JSON thirty times slower.
const largeText = 256 << 10
