package commands

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

func runTree(ctx context.Context, env *Env, a TreeArgs) (r TreeResult, err error) {
	err = env.withSource(ctx, a.Subject, func(sub subject) error {
		t, nodes, err := a.open(sub.doc)
		if err != nil {
			return err
		}
		w := treeWriter{doc: sub.doc, fold: a.Fold}
		if w.labels, err = t.Labels(); err != nil {
			return err
		}
		r = TreeResult{LeafID: optional(sub.doc.LeafID(sub.leaf)), Total: t.Total}
		if a.paged() {
			r.Nodes, r.Next, err = w.page(t, nodes, limits(a.Limit, a.MaxBytes, paging.MaxItems))
		} else {
			r.Nodes, err = w.whole(nodes)
		}
		return err
	})
	return r, err
}

// open returns the tree and its nodes from the first one of the page on.
func (a TreeArgs) open(d *session.Document) (*paging.Tree, iter.Seq2[paging.Node, error], error) {
	if a.Cursor == "" {
		t, err := paging.OpenTree(d, a.Under, a.Fold)
		if err != nil {
			return nil, nil, err
		}
		return t, t.Walk(), nil
	}
	t, next, err := paging.ReopenTree(d, a.Cursor, a.Under, a.Fold)
	if err != nil {
		return nil, nil, err
	}
	return t, t.WalkFrom(next), nil
}

// treeWriter makes the nodes of a result.
type treeWriter struct {
	doc    *session.Document
	labels map[string]string
	fold   bool
}

// page returns the nodes that fit, and the cursor of the others. It reads the lines of these nodes only.
func (w treeWriter) page(t *paging.Tree, nodes iter.Seq2[paging.Node, error], l paging.Limits) (page []TreeNode, next string, err error) {
	page = []TreeNode{}
	room := l.Room()
	for n, err := range nodes {
		if err != nil {
			return nil, "", err
		}
		if room.Full() {
			return page, t.Cursor(n.Entry), nil
		}
		e, err := w.doc.Entry(n.Entry)
		if err != nil {
			return nil, "", err
		}
		node := w.node(n, e.Raw)
		if !room.Take(node.size()) {
			return page, t.Cursor(n.Entry), nil
		}
		page = append(page, node)
	}
	return page, "", nil
}

// whole returns all nodes. It makes them in file order, which reads a large file several times as fast as tree order.
func (w treeWriter) whole(nodes iter.Seq2[paging.Node, error]) ([]TreeNode, error) {
	all, places := []paging.Node{}, make([]int32, w.doc.Len()) // 1 + the place of an entry among all
	for n, err := range nodes {
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		places[n.Entry] = int32(len(all))
	}
	result := make([]TreeNode, len(all))
	i, size := -1, 0
	for line, err := range w.doc.Lines(nil) {
		if err != nil {
			return nil, err
		}
		i++
		k := places[i] - 1
		if k < 0 {
			continue
		}
		result[k] = w.node(all[k], line)
		if size += result[k].size(); size > paging.MaxAnswer {
			return nil, paging.TooLarge("limit")
		}
	}
	return result, nil
}

// node returns the node of an entry whose line is known.
func (w treeWriter) node(n paging.Node, line json.RawMessage) TreeNode {
	e := session.Entry{ID: w.doc.ID(n.Entry), Type: w.doc.Type(n.Entry), Raw: line}
	node := TreeNode{ID: e.ID, Type: string(e.Type), Role: e.Role(), Label: w.labels[e.ID], Preview: preview(e)}
	node.Timestamp, _ = rawjson.GetString(line, "timestamp")
	if n.Above >= 0 {
		id := w.doc.ID(n.Above)
		node.ParentID = &id
	}
	if w.fold {
		node.Count, node.LastID = n.Count, w.doc.ID(n.Last)
	}
	return node
}

// nodeFrame is about how many bytes of a node's JSON are not texts.
const nodeFrame = 110

// size returns the approximate length of a node's JSON in bytes.
func (n TreeNode) size() int {
	size := nodeFrame + len(n.ID) + len(n.Type) + len(n.Role) + len(n.Label) + len(n.Preview) + len(n.Timestamp) + len(n.LastID)
	if n.ParentID != nil {
		size += len(*n.ParentID)
	}
	return size
}
