-- Tracks the server's edits in a buffer separately from the user's. An extmark follows each edit,
-- so that it can be shown and undone at its current position. Text that the user changed inside an
-- edit belongs to the user and is never undone.

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_applied')

---@class xcsh.Hunk a range of lines that the server changed
---@field mark integer
---@field old string[]
---@field new string[]
---@field above string|false the line above, false at the beginning of the buffer
---@field below string|false

---@class xcsh.Tracker
---@field bufnr integer
---@field hunks xcsh.Hunk[]
---@field expected integer upcoming edits that the user has already reviewed
local Tracker = {}
Tracker.__index = Tracker

---@type xcsh.Tracker[]
local trackers = {}

---@param bufnr integer
---@return string[]
local function lines_of(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

---Joins lines to one text. A NUL inside a line, which the API returns as a line break, stays a NUL.
---@param lines string[]
local function joined(lines)
  local text = table.concat(
    vim.tbl_map(function(line)
      return (line:gsub('\n', '\0'))
    end, lines),
    '\n'
  )
  return text .. '\n'
end

local compare = vim.text and vim.text.diff or vim.diff

---@param lines string[]
---@param part string[]
---@param first integer from 0
local function has(lines, part, first)
  if first < 0 or first + #part > #lines then
    return false
  end
  for i, line in ipairs(part) do
    if lines[first + i] ~= line then
      return false
    end
  end
  return true
end

---@param hunk xcsh.Hunk
---@param lines string[]
---@param first integer from 0
---@param count integer
---@return boolean above, boolean below whether the adjacent lines are unchanged
local function around(hunk, lines, first, count)
  return (lines[first] or false) == hunk.above, (lines[first + count + 1] or false) == hunk.below
end

---Reports whether the old lines are back between their old neighbors. Undo leaves the mark at
---either end.
---@param hunk xcsh.Hunk
---@param lines string[]
---@param rows integer[] the rows of the mark
local function is_undone(hunk, lines, rows)
  for _, row in ipairs(rows) do
    for _, first in ipairs({ row, row - #hunk.old }) do
      local above, below = around(hunk, lines, first, #hunk.old)
      if above and below and has(lines, hunk.old, first) then
        return true
      end
    end
  end
  return false
end

---Returns the state of a deletion, which only the adjacent lines show.
---@param hunk xcsh.Hunk
---@param lines string[]
---@param row integer
local function locate_removed(hunk, lines, row)
  local above, below = around(hunk, lines, row, 0)
  if above and below then
    return 'whole'
  elseif is_undone(hunk, lines, { row }) then
    return 'undone'
  end
  return (above or below) and 'whole' or 'touched'
end

---Returns the current position of an edit: rows from 0, end exclusive. The state is "touched" if
---the user changed the edit, and "undone" if its old lines are back.
---@param hunk xcsh.Hunk
---@param lines string[]
---@return 'whole'|'touched'|'undone' state, integer first, integer last
function Tracker:locate(hunk, lines)
  local mark =
    vim.api.nvim_buf_get_extmark_by_id(self.bufnr, namespace, hunk.mark, { details = true })
  local row = mark[1]
  if not row then
    return 'touched', 0, 0
  elseif #hunk.new == 0 then
    return locate_removed(hunk, lines, row), row, row
  end
  local stop = mark[3].end_row or row
  local last = math.min(stop + ((mark[3].end_col or 0) > 0 and 1 or 0), #lines)
  if is_undone(hunk, lines, { row, stop }) then
    return 'undone', row, last
  elseif mark[3].invalid then
    return 'touched', row, last
  end
  -- The user may have added lines above or below, inside the mark.
  if row + #hunk.new <= last and has(lines, hunk.new, row) then
    return 'whole', row, row + #hunk.new
  elseif last - #hunk.new >= row and has(lines, hunk.new, last - #hunk.new) then
    return 'whole', last - #hunk.new, last
  end
  return 'touched', row, last
end

---@class xcsh.Located
---@field hunk xcsh.Hunk
---@field first integer
---@field last integer

---Returns the edits by state, the whole ones from top to bottom.
---@return { whole: xcsh.Located[], touched: xcsh.Located[], undone: xcsh.Located[] }
function Tracker:located()
  local lines = lines_of(self.bufnr)
  local found = { whole = {}, touched = {}, undone = {} }
  for _, hunk in ipairs(self.hunks) do
    local state, first, last = self:locate(hunk, lines)
    table.insert(found[state], { hunk = hunk, first = first, last = last })
  end
  table.sort(found.whole, function(a, b)
    return a.first < b.first
  end)
  -- If the text between two edits was deleted, both could match the same lines.
  local whole, behind = {}, 0
  for _, at in ipairs(found.whole) do
    if at.first >= behind then
      whole[#whole + 1], behind = at, at.last
    else
      table.insert(found.touched, at)
    end
  end
  found.whole = whole
  return found
end

---Returns the buffer without the whole edits.
---@return string[] lines
---@return xcsh.Located[] whole
function Tracker:without()
  local lines, whole = lines_of(self.bufnr), self:located().whole
  local result, next_row = {}, 0
  for _, at in ipairs(whole) do
    vim.list_extend(result, lines, next_row + 1, at.first)
    vim.list_extend(result, at.hunk.old)
    next_row = at.last
  end
  vim.list_extend(result, lines, next_row + 1, #lines)
  return result, whole
end

---@param first integer
---@param old string[]
---@param new string[]
---@param lines string[] of the buffer now
function Tracker:follow(first, old, new, lines)
  local options = { right_gravity = false }
  if #new > 0 then
    options = {
      end_row = first + #new,
      end_col = 0,
      end_right_gravity = false,
      invalidate = true,
      undo_restore = true,
    }
  end
  table.insert(self.hunks, {
    mark = vim.api.nvim_buf_set_extmark(self.bufnr, namespace, first, 0, options),
    old = old,
    new = new,
    above = lines[first] or false,
    below = lines[first + #new + 1] or false,
  })
end

---Records the server's changes.
---@param base string[] the buffer before, without earlier edits that are whole
---@param whole xcsh.Located[] those edits
function Tracker:take(base, whole)
  for _, at in ipairs(whole) do
    vim.api.nvim_buf_del_extmark(self.bufnr, namespace, at.hunk.mark)
    for i, hunk in ipairs(self.hunks) do
      if hunk == at.hunk then
        table.remove(self.hunks, i)
        break
      end
    end
  end
  local now = lines_of(self.bufnr)
  local differences = compare(joined(base), joined(now), { result_type = 'indices' })
  for _, at in
    ipairs(differences --[[@as integer[][] ]])
  do
    local old_first, old_count, new_first, new_count = unpack(at)
    -- For an empty range, the number is that of the preceding line.
    old_first = old_count == 0 and old_first + 1 or old_first
    new_first = new_count == 0 and new_first + 1 or new_first
    self:follow(
      new_first - 1,
      vim.list_slice(base, old_first, old_first + old_count - 1),
      vim.list_slice(now, new_first, new_first + new_count - 1),
      now
    )
  end
end

---Starts tracking the server's changes in a buffer.
---@param bufnr integer
---@return xcsh.Tracker
function M.track(bufnr)
  local tracker = setmetatable({ bufnr = bufnr, hunks = {}, expected = 0 }, Tracker)
  table.insert(trackers, tracker)
  return tracker
end

---Stops recording edits.
function Tracker:stop()
  for i, tracker in ipairs(trackers) do
    if tracker == self then
      return table.remove(trackers, i)
    end
  end
end

---Discards the edits; the buffer is not changed.
function Tracker:forget()
  self:stop()
  if vim.api.nvim_buf_is_valid(self.bufnr) then
    for _, hunk in ipairs(self.hunks) do
      vim.api.nvim_buf_del_extmark(self.bufnr, namespace, hunk.mark)
    end
  end
  self.hunks = {}
end

---Returns the whole edits as a unified diff, "" if there are none.
---@return string
function Tracker:diff()
  local base = self:without()
  return compare(joined(base), joined(lines_of(self.bufnr)), { ctxlen = 3 }) --[[@as string]]
end

---Begins a new undo block, so that the user's edits and the server's are undone separately.
---@param bufnr integer
local function undo_step(bufnr)
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('let &g:undolevels = &g:undolevels')
  end)
end

---Undoes the whole edits at their current positions, as one undo block.
---@return integer undone
---@return xcsh.Located[] touched edits that the user changed; they are kept
function Tracker:reject()
  local found = self:located()
  undo_step(self.bufnr)
  for i = #found.whole, 1, -1 do
    local at = found.whole[i]
    vim.api.nvim_buf_set_lines(self.bufnr, at.first, at.last, true, at.hunk.old)
  end
  undo_step(self.bufnr)
  return #found.whole, found.touched
end

---Lets the server change buffers, and records its changes in tracked buffers.
---@param bufnrs integer[]
---@param apply fun()
function M.around(bufnrs, apply)
  local following = {}
  for _, bufnr in ipairs(bufnrs) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      undo_step(bufnr)
    end
    for _, tracker in ipairs(trackers) do
      if tracker.bufnr == bufnr and tracker.expected > 0 then
        tracker.expected = tracker.expected - 1
      elseif tracker.bufnr == bufnr and vim.api.nvim_buf_is_loaded(bufnr) then
        local base, whole = tracker:without()
        table.insert(following, { tracker = tracker, base = base, whole = whole })
      end
    end
  end
  apply()
  for _, follow in ipairs(following) do
    follow.tracker:take(follow.base, follow.whole)
  end
  for _, bufnr in ipairs(bufnrs) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      undo_step(bufnr)
    end
  end
end

return M
