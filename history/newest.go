package history

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of the search through the newest prompts before the index is used.
const (
	newestStep  = 500     // rows between two checks whether to continue
	newestRows  = 2500    // rows at most
	newestBytes = 2 << 20 // of prompts at most
)

// errUnsure ends a search in which only the index knows whether a prompt matches.
var errUnsure = errors.New("unsure")

// errEnough ends an iteration of rows. It is never returned.
var errEnough = errors.New("enough")

// newestMatching searches the newest prompts directly, for the entries that the index would find.
// The index has to collect all matches of a prefix before it knows the newest of them: for one
// letter, or a frequent word, that takes a tenth of a second, and here they are among the first
// rows. ok is false if they are not, or if only the index can decide whether a prompt matches; rest
// is then the remaining query.
func (d *database) newestMatching(ctx context.Context, q query, limit int, cwd string) (entries []Entry, rest query, ok bool, err error) {
	phrases, plain := phrasesOf(q.terms)
	if !plain || len(q.like) > 0 {
		return nil, q, false, nil
	}
	having := make([]int, len(phrases)) // how many of the rows have each phrase
	column := "NULL"
	if d.cwd {
		column = "cwd"
	}
	statement := "SELECT id, prompt, CAST(created_at AS INTEGER), " + column + " FROM history ORDER BY created_at DESC, id DESC LIMIT ?"
	rows, bytes := 0, 0
	err = each(ctx, d.conn, statement, []any{newestRows}, func(scan func(...any) error) error {
		var at int64
		var e Entry
		var in sql.NullString
		if err := scan(&e.ID, &e.Prompt, &at, &in); err != nil {
			return err
		}
		rows, bytes = rows+1, bytes+len(e.Prompt)
		fit := fits(e.Prompt, phrases, having)
		if cwd == "" || in.String == cwd {
			switch e.Created, e.Cwd = time.Unix(at, 0), in.String; fit {
			case unsure:
				return errEnough
			case yes:
				entries = append(entries, e)
			}
		}
		switch {
		case len(entries) == limit:
			ok = true
			return errEnough
		case bytes > newestBytes, rows%newestStep == 0 && len(entries)*newestRows < limit*rows:
			return errEnough // there would not be enough of them
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		err = nil
	case err == nil && rows < newestRows:
		ok = true // that was all
	}
	if rows >= newestStep {
		q = q.withoutCommon(phrases, having, rows)
	}
	return entries, q, ok && err == nil, err
}

// withoutCommon splits the phrases: if one of them is very rare, the index searches for the rare
// ones, and the matches are checked for the common ones. The index would collect all matches of
// both.
func (q query) withoutCommon(phrases [][]string, having []int, rows int) query {
	var rare []string
	var common [][]string
	seldom := false
	for i, phrase := range phrases {
		if having[i]*10 >= rows {
			common = append(common, phrase)
			continue
		}
		seldom = seldom || having[i]*50 <= rows
		rare = append(rare, `"`+strings.Join(phrase, " ")+`"*`)
	}
	if seldom && len(common) > 0 {
		q.match, q.common = strings.Join(rare, " "), common
	}
	return q
}

// phrasesOf returns the words as which each term must be found, one after the other, in lower case,
// the last of them as a prefix. plain is false if a term has characters about which the index's
// tokenizer and this code may differ.
func phrasesOf(terms []string) (phrases [][]string, plain bool) {
	for _, term := range terms {
		words := wordsOf(term)
		if len(words) == 0 {
			continue // signs are not searched for
		}
		phrase := make([]string, len(words))
		for i, w := range words {
			if w.open {
				return nil, false
			}
			phrase[i] = w.text
		}
		phrases = append(phrases, phrase)
	}
	return phrases, len(phrases) > 0
}

// word is a word of a text.
type word struct {
	text string // in lower case
	open bool   // text ends where a character begins that only the tokenizer can fold
}

// wordsOf divides a text as the index's tokenizer does.
func wordsOf(text string) (words []word) {
	text = asciiLower(text)
	begin, open := -1, -1 // of the word, and of the first character in it that is not plain
	end := func(at int) {
		switch {
		case begin < 0:
		case open >= 0:
			words = append(words, word{text[begin:open], true})
		default:
			words = append(words, word{text[begin:at], false})
		}
		begin, open = -1, -1
	}
	for i, r := range text {
		switch plain := 'a' <= r && r <= 'z' || '0' <= r && r <= '9'; {
		case !plain && r < utf8.RuneSelf && r != 0, !plain && !inWord(r):
			end(i)
			continue
		case !plain && open < 0:
			open = i
		}
		if begin < 0 {
			begin = i
		}
	}
	end(len(text))
	return words
}

// firstForeign is where the characters begin about which versions of Unicode differ.
const firstForeign = 0x2C00

// inWord reports whether a character may be part of a word: the tokenizer has tables of its own, so
// that only characters that have always been signs or spaces are excluded.
func inWord(r rune) bool {
	return r == 0 || r >= firstForeign || !unicode.In(r, unicode.P, unicode.S, unicode.Z, unicode.Cc)
}

// asciiLower is strings.ToLower for the letters that need no table, so that no byte moves.
func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, text)
}

// answer is whether a prompt matches the search.
type answer int

const (
	no answer = iota
	unsure
	yes
)

// fits reports whether a prompt has all of the phrases. It counts the phrases that it has, if
// there is room for that.
func fits(prompt string, phrases [][]string, having []int) answer {
	words := wordsOf(prompt)
	all := yes
	for n, phrase := range phrases {
		best := no
		for i := 0; i+len(phrase) <= len(words) && best < yes; i++ {
			best = max(best, fitsAt(words[i:], phrase))
		}
		if having != nil && best == yes {
			having[n]++
		}
		all = min(all, best)
	}
	return all
}

func fitsAt(words []word, phrase []string) answer {
	all := yes
	for i, text := range phrase {
		w, last := words[i], i == len(phrase)-1
		switch {
		case last && strings.HasPrefix(w.text, text):
		case w.open && strings.HasPrefix(text, w.text):
			all = min(all, unsure)
		case w.open || w.text != text:
			return no
		}
	}
	return all
}
