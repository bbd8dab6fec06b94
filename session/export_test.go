package session

import "io"

// ScanValues shows the lenient reader to tests: the raw values of a file.
func ScanValues(r io.Reader) (values [][]byte, problems []Problem, err error) {
	_, err = scanValues(r, func(v value) {
		values = append(values, append([]byte(nil), v.raw...))
	}, func(p Problem) { problems = append(problems, p) })
	return values, problems, err
}

// ScannedBytes returns the size and newline state the lenient reader saw.
func ScannedBytes(r io.Reader) (size int64, newline bool, err error) {
	end, err := scanValues(r, func(value) {}, func(Problem) {})
	return end.size, end.newline, err
}
