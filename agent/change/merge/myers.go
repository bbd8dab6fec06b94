package merge

import (
	"cmp"
	"slices"
)

// maxCost bounds the steps of a comparison: some 30 ms.
const maxCost = 8 << 20

// myers finds a longest common subsequence in linear space, as in "An O(ND) Difference Algorithm and Its Variations".
type myers struct {
	a, b   []int
	match  func(i, j int)
	budget int
	vf, vb []int
}

// compare reports the matches of a[i:n] and b[j:m] in no order.
func (d *myers) compare(i, n, j, m int) {
	for i < n && j < m && d.a[i] == d.b[j] {
		d.match(i, j)
		i, j = i+1, j+1
	}
	for i < n && j < m && d.a[n-1] == d.b[m-1] {
		n, m = n-1, m-1
		d.match(n, m)
	}
	if i == n || j == m {
		return
	}
	if x, y, ok := d.middle(i, n, j, m); ok {
		d.compare(i, x, j, y)
		d.compare(x, n, y, m)
		return
	}
	d.anchored(i, n, j, m)
}

// outside marks a diagonal without a point in the box.
const outside = -1 << 40

// middle returns a point on a shortest path through the box that is neither of its corners. ok is false when the budget is used up.
func (d *myers) middle(i, n, j, m int) (x, y int, ok bool) {
	w, h := n-i, m-j
	if size := 2*(w+h) + 3; len(d.vf) < size {
		d.vf, d.vb = make([]int, size), make([]int, size)
	}
	mid, delta := w+h+1, w-h
	d.vf[mid+1], d.vb[mid+1] = 0, 0
	for c := 0; c <= (w+h+1)/2; c++ {
		if d.budget -= 2*c + 2; d.budget < 0 {
			return 0, 0, false
		}
		for k := -c; k <= c; k += 2 {
			p := furthest(d.vf, mid, k, c, w, h)
			if p == outside {
				continue
			}
			for p < w && p-k < h && d.a[i+p] == d.b[j+p-k] {
				p++
				d.budget--
			}
			d.vf[mid+k] = p
			if r := delta - k; delta&1 != 0 && r >= -(c-1) && r <= c-1 && p+d.vb[mid+r] >= w {
				return i + p, j + p - k, true
			}
		}
		for k := -c; k <= c; k += 2 {
			p := furthest(d.vb, mid, k, c, w, h)
			if p == outside {
				continue
			}
			for p < w && p-k < h && d.a[n-1-p] == d.b[m-1-p+k] {
				p++
				d.budget--
			}
			d.vb[mid+k] = p
			if r := delta - k; delta&1 == 0 && r >= -c && r <= c && p+d.vf[mid+r] >= w {
				return n - p, m - p + k, true
			}
		}
	}
	return 0, 0, false
}

// furthest sets and returns the start of diagonal k after c changes.
func furthest(v []int, mid, k, c, w, h int) int {
	p := outside
	if k < c && v[mid+k+1]-k <= h {
		p = v[mid+k+1]
	}
	if right := v[mid+k-1] + 1; k > -c && right <= w {
		p = max(p, right)
	}
	if p < 0 {
		p = outside
	}
	v[mid+k] = p
	return p
}

// anchored matches the lines that occur exactly once on each side in the same order, and the equal lines next to them.
func (d *myers) anchored(i, n, j, m int) {
	anchors := longestRising(d.unique(i, n, j, m))
	for _, p := range anchors {
		if p.i < i || p.j < j {
			continue // matched next to the previous one
		}
		x, y := p.i, p.j
		for x > i && y > j && d.a[x-1] == d.b[y-1] {
			x, y = x-1, y-1
		}
		d.ends(i, x, j, y)
		for i, j = x, y; i < n && j < m && d.a[i] == d.b[j]; {
			d.match(i, j)
			i, j = i+1, j+1
		}
	}
	d.ends(i, n, j, m)
}

// ends matches the equal lines at the beginning of a box.
func (d *myers) ends(i, n, j, m int) {
	for i < n && j < m && d.a[i] == d.b[j] {
		d.match(i, j)
		i, j = i+1, j+1
	}
	for i < n && j < m && d.a[n-1] == d.b[m-1] {
		n, m = n-1, m-1
		d.match(n, m)
	}
}

type point struct{ i, j int }

// unique returns the lines that occur exactly once on each side, in the order of a.
func (d *myers) unique(i, n, j, m int) (points []point) {
	type seen struct{ na, nb, j int }
	count := map[int]*seen{}
	for _, v := range d.a[i:n] {
		if count[v] == nil {
			count[v] = &seen{}
		}
		count[v].na++
	}
	for y, v := range d.b[j:m] {
		if s := count[v]; s != nil {
			s.nb++
			s.j = j + y
		}
	}
	for x, v := range d.a[i:n] {
		if s := count[v]; s.na == 1 && s.nb == 1 {
			points = append(points, point{i + x, s.j})
		}
	}
	return points
}

// longestRising returns a longest subsequence of points that also increases in j. The points increase in i.
func longestRising(points []point) []point {
	var tails []int // for each length, the lowest last point of a subsequence
	prev := make([]int, len(points))
	for x, p := range points {
		at, _ := slices.BinarySearchFunc(tails, p.j, func(t, j int) int { return cmp.Compare(points[t].j, j) })
		if prev[x] = -1; at > 0 {
			prev[x] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, x)
		} else {
			tails[at] = x
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([]point, len(tails))
	for x, at := tails[len(tails)-1], len(tails)-1; at >= 0; x, at = prev[x], at-1 {
		out[at] = points[x]
	}
	return out
}
