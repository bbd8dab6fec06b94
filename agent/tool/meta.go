package tool

import "encoding/json"

// OutputMeta is how xcsh and oh-my-pi tell that an output was cut, and which artifact has all
// of it. Their exports word it.
type OutputMeta struct {
	Truncation TruncationMeta `json:"truncation"`
}

// TruncationMeta describes the part of an output that is shown. Sizes are in bytes.
type TruncationMeta struct {
	Direction   string    `json:"direction" jsonschema:"tail: the end is shown."`
	TruncatedBy string    `json:"truncatedBy" jsonschema:"lines or bytes."`
	TotalLines  int       `json:"totalLines"`
	TotalBytes  int       `json:"totalBytes"`
	OutputLines int       `json:"outputLines"`
	OutputBytes int       `json:"outputBytes"`
	MaxBytes    int       `json:"maxBytes"`
	ShownRange  LineRange `json:"shownRange"`
	ArtifactID  string    `json:"artifactId,omitempty" jsonschema:"Id of the complete output, for xcsh.artifact."`
}

// LineRange are line numbers, the first is 1; both are shown.
type LineRange struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Meta is the member meta of an execution in a session file, nil when all of the output is
// shown.
func (o Output) Meta() json.RawMessage {
	if !o.Truncated {
		return nil
	}
	t := o.Truncation
	by := byBytes
	if t.TruncatedBy != nil {
		by = *t.TruncatedBy
	}
	return details(OutputMeta{TruncationMeta{
		Direction: "tail", TruncatedBy: by,
		TotalLines: t.TotalLines, TotalBytes: t.TotalBytes, OutputLines: t.OutputLines, OutputBytes: t.OutputBytes, MaxBytes: t.MaxBytes,
		ShownRange: LineRange{Start: t.TotalLines - t.OutputLines + 1, End: t.TotalLines},
		ArtifactID: o.ArtifactID,
	}})
}
