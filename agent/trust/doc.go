// Package trust decides what a workspace may contribute to the running program.
//
// A workspace comes with files from other people. Most of them are data: text for the model,
// sessions to list. Others would act for the user: an agent directory decides where requests and
// keys are sent and has scripts that are executed. [Gate] refuses an agent directory inside a
// workspace unless the user named it. [Store] records the decisions of the user, bound to a digest
// of the content, so that a later change of the content is not allowed with it.
package trust
