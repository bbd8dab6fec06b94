package session

// Prepare exports prepare, which changes a line before it is written, to tests.
func Prepare(line []byte, blobs blobSink) ([]byte, error) { return prepare(line, blobs) }

// PrepareWithin is [Prepare] with other limits for the longest text and the shortest image.
func PrepareWithin(line []byte, blobs blobSink, text, image int) ([]byte, error) {
	return prepareWithin(line, blobs, limits{text: text, image: image})
}

// ResolveBlobs puts images back into a line. missing counts the references that could not
// be resolved.
func ResolveBlobs(line []byte, blobs BlobSource) (out []byte, missing int) {
	out = resolveBlobs(line, blobs, 0, func(string, error) { missing++ })
	return out, missing
}
