package tool

import (
	"context"
	_ "embed" // the tools' descriptions
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

//go:embed exitplan.md
var exitPlanDoc string

// ExitPlanMode is the name of the tool by which a model proposes that its plan is complete.
const ExitPlanMode = "exit_plan_mode"

// maxPlan is the longest plan that can be approved, in bytes: a user has to read all of it.
const maxPlan = 64 << 10

// Plan is a plan that a model proposes.
type Plan struct {
	Name string // of its file, as the model knows it
	Path string // of its file, absolute
	Text string
}

// Planner is a session in plan mode.
type Planner interface {
	// Plan returns the plan with this title. It fails if the session is not in plan mode, or has no
	// plan file.
	Plan(ctx context.Context, env Env, title string) (Plan, error)

	// EndPlan ends plan mode. It is only called after the user approved the plan.
	EndPlan(ctx context.Context) error
}

type exitPlanArgs struct {
	Title string `json:"title" jsonschema:"The title of the plan: letters, digits, _ and -."`
}

// planTitle matches the titles that xcsh accepts.
var planTitle = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// NewExitPlanMode returns the tool [ExitPlanMode] of a session. The caller asks the user for every call,
// in every approval mode.
//
// Differs: xcsh renames the plan file to the title and carries out the plan in a new session.
func NewExitPlanMode(p Planner) Tool {
	return define(definition[exitPlanArgs]{
		name: ExitPlanMode, doc: exitPlanDoc, changes: true,
		accept: func(args arguments) error {
			if title, ok := args.text("title"); ok {
				title = strings.TrimSpace(title)
				if n := len(title) - len(".md"); n > 0 && strings.EqualFold(title[n:], ".md") {
					title = title[:n]
				}
				args["title"] = rawjson.Quote(title)
			}
			return nil
		},
		check: func(a exitPlanArgs) error {
			if !planTitle.MatchString(a.Title) {
				return badArgument("title", "%s: the title may only contain up to 100 letters, digits, underscores and hyphens.", ExitPlanMode)
			}
			return nil
		},
		preview: func(ctx context.Context, env Env, a exitPlanArgs) (Preview, error) {
			plan, err := readPlan(ctx, p, env, a.Title)
			if err != nil {
				return Preview{}, err
			}
			return Preview{Title: "End plan mode and carry out the plan " + a.Title, Diff: patch(plan.Name, "", plan.Text), Paths: []string{plan.Path}}, nil
		},
		run: func(ctx context.Context, env Env, a exitPlanArgs) (Result, error) {
			plan, err := readPlan(ctx, p, env, a.Title)
			if err == nil {
				err = p.EndPlan(ctx)
			}
			if err != nil {
				return Result{}, err
			}
			r := TextResult("The user approved the plan, and plan mode is off. Carry out the plan in " + plan.Name + " now, step by step. Read it again if you no longer know it.")
			r.Details = new(rawjson.Object).String("planFilePath", plan.Name).Raw("planExists", []byte("true")).
				String("title", a.Title).String("finalPlanFilePath", plan.Name).Bytes()
			return r, nil
		},
	})
}

// readPlan returns a plan that a user can read.
func readPlan(ctx context.Context, p Planner, env Env, title string) (Plan, error) {
	plan, err := p.Plan(ctx, env, title)
	switch {
	case err != nil:
		return Plan{}, err
	case strings.TrimSpace(plan.Text) == "":
		return Plan{}, fault.New(fault.InvalidArgument, "The plan file %s is empty. Write the plan to it, then call %s again.", plan.Name, ExitPlanMode)
	case len(plan.Text) > maxPlan:
		return Plan{}, fault.New(fault.Limit, "The plan file %s is longer than %d KB, which is too long to review. Shorten it, then call %s again.", plan.Name, maxPlan>>10, ExitPlanMode)
	case !utf8.ValidString(plan.Text) || strings.ContainsRune(plan.Text, 0):
		return Plan{}, fault.New(fault.InvalidArgument, "The plan file %s is not a text file.", plan.Name)
	}
	return plan, nil
}
