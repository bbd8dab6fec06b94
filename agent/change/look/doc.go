// Package look finds the file changes of a command by comparing the folder before and after it: the two looks.
//
// In a git work tree, the looks run git with a private copy of the index, which identifies the content of every clean file before the
// command. The contents of dirty and untracked files, and of small ignored ones, are stored before the command runs. Without git, the
// files of a small folder are stored.
//
// Looks write nothing to the repository and run none of its programs: no hook, file system monitor, filter or other program that its
// settings name. git uses a private repository that only has the settings for the storage of files, so a command can't inject a
// program while git is running. Files with a filter of the user are stored before the command.
//
// A failing look never fails the command. Changes that it can't detect are limits of the record.
package look
