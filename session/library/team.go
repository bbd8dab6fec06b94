package library

import "time"

// Team describes a session in a team's store. Library itself knows no store: callers set it.
type Team struct {
	SID     string `json:"sid" jsonschema:"Its id in the store; a target of xcsh.resume."`
	Owner   string `json:"owner" jsonschema:"The user who sent it first."`
	Variant int    `json:"variant" jsonschema:"0, or the number of a fork that has the same id in its header."`
	Visible string `json:"visible" jsonschema:"Who can read it: team or me."`

	Writer       string `json:"writer,omitempty" jsonschema:"The device that writes at the moment."`
	WriterLeftMs int64  `json:"writerLeftMs,omitempty" jsonschema:"How long no other device can write, in milliseconds."`
	Unsent       int64  `json:"unsent,omitempty" jsonschema:"Bytes of the file that are not in the store yet."`
	Newer        int64  `json:"newer,omitempty" jsonschema:"Bytes of the store that are not in the file."`
	Remote       bool   `json:"remote,omitempty" jsonschema:"There is no file of the session on this machine; path is empty. xcsh.resume pulls it."`
	Deleted      bool   `json:"deleted,omitempty" jsonschema:"It is in the trash of the store."`
}

// DescribeRemote completes an Info about a session without a file here, from its ID, Title, FirstMessage and ModTime. now is what
// TimeAgo counts from.
func DescribeRemote(i Info, now time.Time) Info {
	i.HasTitle = i.Title != ""
	i.Name = shortName(fullName(i.Title, i.FirstMessage, i.ID, ""))
	if i.FirstMessage == "" {
		i.FirstMessage = noMessages
	}
	i.wordTimes(now)
	return i
}
