package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

const (
	maxOutput  = 5_000     // characters of an output in a result for the model
	maxDetails = 500_000   // bytes of an output in the details
	maxUnkept  = 50_000    // characters of an output that no file keeps
	maxFile    = 8_000_000 // bytes of the file of an output
)

// details is the form of a result that oh-my-pi records.
type details struct {
	Project     *string    `json:"projectAgentsDir"`
	Results     []result   `json:"results"`
	TotalMs     int64      `json:"totalDurationMs"`
	Usage       *usage     `json:"usage,omitempty"`
	OutputPaths []string   `json:"outputPaths,omitempty"`
	Progress    []Progress `json:"progress,omitempty"` // while it runs
}

type result struct {
	Index          int             `json:"index"`
	ID             string          `json:"id"`
	Agent          string          `json:"agent"`
	AgentSource    string          `json:"agentSource"`
	Description    string          `json:"description,omitempty"`
	Task           string          `json:"task"`
	Assignment     string          `json:"assignment"`
	ExitCode       int             `json:"exitCode"`
	Output         string          `json:"output"`
	Stderr         string          `json:"stderr"`
	Truncated      bool            `json:"truncated"`
	DurationMs     int64           `json:"durationMs"`
	Tokens         int             `json:"tokens"`
	Requests       int             `json:"requests"`
	ContextTokens  int             `json:"contextTokens"`
	ContextWindow  int             `json:"contextWindow,omitempty"`
	ModelOverride  []string        `json:"modelOverride,omitempty"`
	ResolvedModel  string          `json:"resolvedModel,omitempty"`
	ModelIdentity  string          `json:"resolvedModelIdentity,omitempty"`
	Aborted        bool            `json:"aborted"`
	Usage          usage           `json:"usage"`
	OutputPath     string          `json:"outputPath,omitempty"`
	ExtractedTools json.RawMessage `json:"extractedToolData,omitempty"`
	OutputMeta     outputMeta      `json:"outputMeta"`
	Error          string          `json:"error,omitempty"`
}

type outputMeta struct {
	Lines int `json:"lineCount"`
	Chars int `json:"charCount"`
}

type usage struct {
	Input      int                `json:"input"`
	Output     int                `json:"output"`
	CacheRead  int                `json:"cacheRead"`
	CacheWrite int                `json:"cacheWrite"`
	Total      int                `json:"totalTokens"`
	Reasoning  int                `json:"reasoningTokens"`
	Cost       provider.UsageCost `json:"cost"`
}

func (u *usage) add(v provider.Usage) {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Total += v.TotalTokens
	u.Cost.Input += v.Cost.Input
	u.Cost.Output += v.Cost.Output
	u.Cost.CacheRead += v.Cost.CacheRead
	u.Cost.CacheWrite += v.Cost.CacheWrite
	u.Cost.Total += v.Cost.Total
}

// record returns what the details record of a finished job.
func (j *Job) record(o Outcome, took time.Duration) result {
	r := result{
		Index: j.Index, ID: j.ID, Agent: j.Agent.Name, AgentSource: j.Agent.Source, Description: j.Task.Description,
		Task: j.Prompt, Assignment: j.Task.Assignment, Output: head(o.Text, maxDetails), Truncated: len(o.Text) > maxDetails,
		DurationMs: took.Milliseconds(), Tokens: o.Usage.TotalTokens, Requests: o.Requests, ContextTokens: o.ContextTokens,
		ContextWindow: o.ContextWindow, ResolvedModel: o.Model, ModelIdentity: o.Model, OutputPath: o.saved, OutputMeta: metaOf(o.Text),
	}
	if o.Model != "" {
		r.ModelOverride = []string{o.Model}
	}
	r.Usage.add(o.Usage)
	if o.Yielded != nil {
		r.ExtractedTools = new(rawjson.Object).Raw(yieldName, rawjson.Array([][]byte{o.Yielded})).Bytes()
	}
	if status, why := o.status(); status != Completed {
		r.ExitCode, r.Stderr, r.Error, r.Aborted = 1, why, why, status == Aborted
	}
	return r
}

func metaOf(text string) outputMeta {
	m := outputMeta{Chars: utf8.RuneCountInString(text)}
	if text != "" {
		m.Lines = strings.Count(text, "\n") + 1
	}
	return m
}

// text returns what the model reads of a finished job.
func (j *Job) text(o Outcome, took time.Duration) string {
	status, why := o.status()
	var b strings.Builder
	fmt.Fprintf(&b, "<task-result id=%q agent=%q status=%q duration=%q>\n", j.ID, j.Agent.Name, status, duration(took))
	if m := metaOf(o.Text); m.Lines > 0 {
		fmt.Fprintf(&b, "<meta lines=\"%d\" size=%q />\n", m.Lines, size(len(o.Text)))
	}
	switch {
	case status == Aborted:
		b.WriteString("<abort-reason>" + why + "</abort-reason>\n")
	case status != Completed:
		b.WriteString("<error>" + why + "</error>\n")
	}
	most := maxOutput
	if o.saved == "" {
		most = maxUnkept
	}
	switch shown := runes(o.Text, most); {
	case shown == o.Text:
		b.WriteString("<output>\n" + o.Text + "\n</output>\n")
	case o.saved == "":
		b.WriteString("<preview>\n" + shown + "\n</preview>\n")
	default:
		b.WriteString("<preview full-output=\"agent://" + j.ID + "\">\n" + shown + "\n</preview>\n")
	}
	b.WriteString("</task-result>")
	for _, note := range o.Notes {
		b.WriteString("\n" + note)
	}
	return b.String()
}

// result is the result of a call.
func (g *Group) result(c Call, jobs []*Job) tool.Result {
	d := details{Results: []result{}, TotalMs: g.Now().Sub(g.begun).Milliseconds(), Usage: new(usage), Project: g.project()}
	failed, parts := 0, []string{}
	for _, j := range jobs {
		o, took := j.outcome()
		r := j.record(o, took)
		d.Results = append(d.Results, r)
		d.Usage.add(o.Usage)
		if r.OutputPath != "" {
			d.OutputPaths = append(d.OutputPaths, r.OutputPath)
		}
		failed += r.ExitCode
		parts = append(parts, j.text(o, took))
	}
	if len(c.Ignored) > 0 {
		parts = append(parts, "Ignored, because subagents here work in the folder itself, with the tools of this session, and answer with text: "+strings.Join(c.Ignored, ", ")+".")
	}
	r := tool.TextResult(strings.Join(parts, "\n\n"))
	r.Details, r.IsError = encode(d), failed == len(jobs)
	return r
}

// head returns at most n bytes of a text, never a part of a character.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// runes returns at most n characters of a text.
func runes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// duration is a duration as oh-my-pi writes it.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// size is a number of bytes as oh-my-pi writes it.
func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fKB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
	}
}
