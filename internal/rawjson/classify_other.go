//go:build !amd64 || purego

package rawjson

func classify(text *[blockSize]byte) (quotes, slashes, letters uint64, control bool) {
	return classifyWords(text)
}
