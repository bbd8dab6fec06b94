package session

// Prepare shows to tests what is done to a line before it is written.
func Prepare(line []byte, blobs BlobSink) ([]byte, error) { return prepare(line, blobs) }

// PrepareWithin is [Prepare] with a longest text and a shortest image.
func PrepareWithin(line []byte, blobs BlobSink, text, image int) ([]byte, error) {
	return prepareWithin(line, blobs, limits{text: text, image: image})
}

// ResolveBlobs puts images back into a line. missing counts those that could not be.
func ResolveBlobs(line []byte, blobs BlobSource) (out []byte, missing int) {
	out = resolveBlobs(line, blobs, 0, func(string, error) { missing++ })
	return out, missing
}
