//go:build !unix

package regular

const directory = 0
