package guard

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRejectedPart(t *testing.T) {
	t.Parallel()
	const (
		messages = `{"model":"m","messages":[{"content":"zero"},{"content":[{"text":"a"},{"text":"b"}]}]}`
		input    = `{"input":[{"id":"x"},{"id":"y"}]}`
		contents = `{"contents":[{"parts":[{"text":"p"}]}]}`
	)
	for _, tc := range []struct{ body, message, param, want string }{
		{messages, "messages.0: no", "", `{"content":"zero"}`},
		{messages, "messages.1.content.1.text: no", "", `{"text":"b"}`},
		{messages, "Invalid 'messages[1].content[0]'", "", `{"text":"a"}`},
		{messages, "no", "messages[0].content", `{"content":"zero"}`},
		{messages, "messages.1: no", "messages[0]", `{"content":"zero"}`}, // what is meant for programs counts
		{input, "Invalid value: 'input[1].id'", "", `{"id":"y"}`},
		{contents, "* GenerateContentRequest.contents[0].parts[0].text: no", "", `{"text":"p"}`},
		{messages, "messages.1.content.7: no", "", `{"content":[{"text":"a"},{"text":"b"}]}`},
		{messages, "messages.0.content.0: no", "", `{"content":"zero"}`},

		// A service that is wrong, or hostile.
		{messages, "messages.2: no", "", ""},
		{messages, "messages.999999999: no", "", ""},
		{messages, "messages.99999999999999999999: no", "", ""},
		{messages, "messages[-1]", "", ""},
		{messages, "the messages are bad", "", ""},
		{messages, "input[0]", "", ""},
		{`{"messages":{"0":1}}`, "messages.0", "", ""},
		{`{"messages":[`, "messages.0", "", ""},
		{"", "messages.0", "", ""},
	} {
		part := rejectedPart([]byte(tc.body), &Problem{Message: tc.message, Param: tc.param})
		assert.Equal(t, tc.want, string(part), "%s %s", tc.message, tc.param)
	}
}
