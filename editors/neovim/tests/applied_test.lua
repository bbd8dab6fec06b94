-- Separates the server's changes from the user's text: only the server's are shown and undone.

local applied = require('xcsh.applied')
local runner = require('runner')
local case, eq, like = runner.case, runner.eq, runner.like

local function lines_of(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

---@param lines string[]
local function buffer(lines)
  local bufnr = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.api.nvim_set_current_buf(bufnr)
  return bufnr
end

---Replaces lines like the server does: in one edit.
---@param bufnr integer
---@param first integer from 0
---@param last integer not included
---@param new string
local function server_edit(bufnr, first, last, new)
  applied.around({ bufnr }, function()
    local edit = {
      range = { start = { line = first, character = 0 }, ['end'] = { line = last, character = 0 } },
      newText = new,
    }
    vim.lsp.util.apply_text_edits({ edit }, bufnr, 'utf-8')
  end)
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

---Returns a buffer in which the server changed "two", and the tracker.
local function changed()
  applied = require('xcsh.applied')
  local bufnr = buffer({ 'one', 'two', 'three', 'four', 'five' })
  local tracker = applied.track(bufnr)
  server_edit(bufnr, 1, 2, 'zwei\nzwei b\n')
  eq({ 'one', 'zwei', 'zwei b', 'three', 'four', 'five' }, lines_of(bufnr))
  return bufnr, tracker
end

case('text typed elsewhere in the buffer is neither shown nor undone', function()
  local bufnr, tracker = changed()
  press('Gomine<Esc>ggOabove<Esc>GkAand this<Esc>')
  local diff = tracker:diff()
  like('%-two\n%+zwei\n%+zwei b\n', diff)
  for _, mine in ipairs({ 'mine', 'above', 'fiveand this' }) do
    eq({ mine, nil }, { mine, diff:find('[+-]' .. mine) })
  end
  eq(1, (tracker:reject()))
  eq({ 'above', 'one', 'two', 'three', 'four', 'fiveand this', 'mine' }, lines_of(bufnr))
end)

case('lines typed directly above and below a change are kept', function()
  local bufnr, tracker = changed()
  press('2GOabove<Esc>4Gobelow<Esc>')
  eq({ 'one', 'above', 'zwei', 'zwei b', 'below', 'three', 'four', 'five' }, lines_of(bufnr))
  eq(1, (tracker:reject()))
  eq({ 'one', 'above', 'two', 'below', 'three', 'four', 'five' }, lines_of(bufnr))
end)

case('a line added with Enter after a change is kept', function()
  local bufnr, tracker = changed()
  press('3GA<CR>mine<Esc>')
  eq(1, (tracker:reject()))
  eq({ 'one', 'two', 'mine', 'three', 'four', 'five' }, lines_of(bufnr))
end)

case('a change that the user edited is kept', function()
  local bufnr, tracker = changed()
  press('2GAmine<Esc>')
  eq('', tracker:diff())
  local undone, touched = tracker:reject()
  eq({ 0, 1 }, { undone, #touched })
  eq({ 'one', 'zweimine', 'zwei b', 'three', 'four', 'five' }, lines_of(bufnr))
end)

case('if the user edited one of two changes, only the other is undone', function()
  local bufnr, tracker = changed()
  server_edit(bufnr, 4, 5, 'vier\n')
  press('2GIx<Esc>')
  local undone, touched = tracker:reject()
  eq({ 1, 1 }, { undone, #touched })
  eq({ 'one', 'xzwei', 'zwei b', 'three', 'four', 'five' }, lines_of(bufnr))
end)

case('a change to an earlier change becomes part of it', function()
  local bufnr, tracker = changed()
  server_edit(bufnr, 1, 3, 'due\n')
  like('%-two\n%+due\n', tracker:diff())
  eq(1, (tracker:reject()))
  eq({ 'one', 'two', 'three', 'four', 'five' }, lines_of(bufnr))
end)

case('removed lines are restored in place', function()
  applied = require('xcsh.applied')
  local bufnr = buffer({ 'one', '}', '}', 'four' })
  local tracker = applied.track(bufnr)
  server_edit(bufnr, 2, 3, '')
  press('ggOmine<Esc>')
  eq({ 'mine', 'one', '}', 'four' }, lines_of(bufnr))
  eq(1, (tracker:reject()))
  eq({ 'mine', 'one', '}', '}', 'four' }, lines_of(bufnr))
end)

case('appended lines are undone, and lines typed after them are kept', function()
  applied = require('xcsh.applied')
  local bufnr = buffer({ 'one' })
  local tracker = applied.track(bufnr)
  applied.around({ bufnr }, function()
    vim.api.nvim_buf_set_lines(bufnr, 1, 1, false, { 'two' })
  end)
  press('Gomine<Esc>')
  eq(1, (tracker:reject()))
  eq({ 'one', 'mine' }, lines_of(bufnr))
end)

case('a change that was undone by hand is not undone again', function()
  local bufnr, tracker = changed()
  press('u')
  eq({ 'one', 'two', 'three', 'four', 'five' }, lines_of(bufnr))
  eq({ 0, {} }, { tracker:reject() })
  press('Goa<Esc>')
  eq({ 'one', 'two', 'three', 'four', 'five', 'a' }, lines_of(bufnr))
end)

case("undo reverts the server's and the user's edits step by step", function()
  local bufnr, tracker = changed()
  press('Gomine<Esc>')
  tracker:reject()
  eq({ 'one', 'two', 'three', 'four', 'five', 'mine' }, lines_of(bufnr))
  press('u')
  eq({ 'one', 'zwei', 'zwei b', 'three', 'four', 'five', 'mine' }, lines_of(bufnr))
  press('u')
  eq({ 'one', 'zwei', 'zwei b', 'three', 'four', 'five' }, lines_of(bufnr))
  press('u')
  eq({ 'one', 'two', 'three', 'four', 'five' }, lines_of(bufnr))
  press('<C-r><C-r><C-r>')
  eq({ 'one', 'two', 'three', 'four', 'five', 'mine' }, lines_of(bufnr))
end)

case('replacing a whole buffer loses no byte', function()
  local bufnr, tracker = changed()
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { 'all', 'new' })
  local undone, touched = tracker:reject()
  eq({ 0, 1 }, { undone, #touched })
  eq({ 'all', 'new' }, lines_of(bufnr))
end)

case('text typed between random edits survives a reject', function()
  applied = require('xcsh.applied')
  math.randomseed(7)
  local serial = 0
  for _ = 1, 150 do
    local bufnr = buffer(vim.split(('line\n'):rep(8), '\n'))
    local tracker = applied.track(bufnr)
    local typed = {}
    for _ = 1, 6 do
      serial = serial + 1
      local count = vim.api.nvim_buf_line_count(bufnr)
      local first = math.random(0, count - 1)
      if math.random(2) == 1 then
        -- The server changes lines that the user did not write; an edit of those would be rejected.
        local last = math.min(first + math.random(0, 2), count)
        local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, first, last, false))
        if not text:find('user') then
          server_edit(bufnr, first, last, ('server %d\n'):format(serial):rep(math.random(0, 2)))
        end
      else
        local mine = ('user %d'):format(serial)
        table.insert(typed, mine)
        vim.api.nvim_win_set_cursor(0, { first + 1, 0 })
        press(({ 'o', 'O', 'A', 'I' })[math.random(4)] .. mine .. '<Esc>')
      end
    end
    tracker:reject()
    local text = table.concat(lines_of(bufnr), '\n')
    for _, mine in ipairs(typed) do
      eq({ mine, true }, { mine, text:find(mine, 1, true) ~= nil })
    end
    tracker:forget()
    vim.api.nvim_buf_delete(bufnr, { force = true })
  end
end)
