//go:build !unix

package intake

const nonblock = 0
