-- The pending hunks of a file as marks in its buffer: a sign beside each line that the session
-- wrote, and the lines that it replaced as virtual lines. The marks move with the text; the server
-- decides what a hunk is.

local patches = require('xcsh.changes.patches')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_changes')

---The places of the hunks, which stay while their marks are drawn again.
local places = vim.api.nvim_create_namespace('xcsh_changes_places')

---More replaced lines of a hunk are not shown, and no more signs of a buffer.
local max_lines, max_signs = 200, 5000

---@class xcsh.changes.Mark
---@field hunk string its name for the server
---@field mixed boolean the user changed these lines, too
---@field removed string[]
---@field added string[]
---@field anchor integer extmark

---@class xcsh.changes.Shown.Hunks
---@field cwd string
---@field path string
---@field base string the text without the hunks
---@field marks xcsh.changes.Mark[] from top to bottom

---@type table<integer, xcsh.changes.Shown.Hunks>
local shown = {}

---@param bufnr integer
---@param mark xcsh.changes.Mark
---@return integer first, integer last rows from 0, end exclusive
local function rows(bufnr, mark)
  local at = vim.api.nvim_buf_get_extmark_by_id(bufnr, places, mark.anchor, { details = true })
  local first = at[1] or 0
  return first, #mark.added == 0 and first or math.max(first, at[3] and at[3].end_row or first)
end

---Returns the blocks of a hunk as one: its first line, and the lines that it removed and added.
---@param hunk table
---@return integer first from 1, string[] removed, string[] added
local function block(hunk)
  local found = patches.hunks(wire.str(hunk.text))
  if #found ~= 1 then
    return wire.num(hunk.newStart), {}, {}
  end
  return found[1].first, found[1].removed, found[1].added
end

---Reports whether the added lines of a hunk are where the server says.
---@param bufnr integer
---@param first integer from 1
---@param added string[]
local function is_there(bufnr, first, added)
  local lines = vim.api.nvim_buf_get_lines(bufnr, first - 1, first - 1 + #added, false)
  if #lines ~= #added then
    return false
  end
  for i, line in ipairs(lines) do
    if line:gsub('\r$', '') ~= added[i]:gsub('\r$', '') then
      return false
    end
  end
  return true
end

---@param mark xcsh.changes.Mark
local function sign(mark)
  if #mark.removed == 0 then
    return '┃', 'XcshChangeAdd'
  elseif #mark.added == 0 then
    return '▁', 'XcshChangeDelete'
  end
  return '┃', 'XcshChangeModify'
end

---@param mark xcsh.changes.Mark
---@return table[]
local function replaced(mark)
  local lines = {}
  for i, line in ipairs(mark.removed) do
    if i > max_lines then
      lines[i] = { { ('… %d more lines'):format(#mark.removed - max_lines), 'XcshNote' } }
      break
    end
    local said = text.line((line:gsub('\r$', '')))
    lines[i] = { { said == '' and ' ' or said, 'XcshDiffDelete' } }
  end
  return lines
end

---@param i integer
---@param count integer
---@param mark xcsh.changes.Mark
local function hint(i, count, mark)
  local keys = require('xcsh.config').changes().keys
  local parts = { ('%d of %d'):format(i, count) }
  if mark.mixed then
    parts[#parts + 1] = 'with your changes'
  end
  for _, key in ipairs({ { keys.keep, 'keep' }, { keys.undo, 'undo' } }) do
    if key[1] then
      parts[#parts + 1] = key[1] .. ' ' .. key[2]
    end
  end
  return ' … ' .. table.concat(parts, ' · ')
end

---@param bufnr integer
---@param row integer from 0
---@param options vim.api.keyset.set_extmark
local function put(bufnr, row, options)
  options.strict = false
  row = math.max(0, math.min(row, vim.api.nvim_buf_line_count(bufnr) - 1))
  vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, options)
end

---@param bufnr integer
---@param mark xcsh.changes.Mark
---@param signs integer how many more are drawn
---@return integer signs
local function draw_signs(bufnr, mark, signs)
  local first, last = rows(bufnr, mark)
  local sign_text, group = sign(mark)
  -- A deletion is between two lines; its sign is beside the one above.
  if #mark.added == 0 then
    first = math.max(first - 1, 0)
    last = first + 1
  end
  for row = first, math.min(last, first + signs) - 1 do
    put(bufnr, row, { sign_text = sign_text, sign_hl_group = group, priority = 9 })
  end
  return math.max(0, signs - (last - first))
end

---@param bufnr integer
---@param mark xcsh.changes.Mark
---@param said string
local function draw_lines(bufnr, mark, said)
  local first = rows(bufnr, mark)
  local count = vim.api.nvim_buf_line_count(bufnr)
  local at_end = first >= count
  put(bufnr, #mark.added == 0 and math.max(first - 1, 0) or first, {
    virt_text = { { said, 'XcshHint' } },
    virt_text_pos = 'eol',
  })
  if #mark.removed > 0 then
    put(bufnr, first, { virt_lines = replaced(mark), virt_lines_above = not at_end })
    if first == 0 then
      require('xcsh.review.marks').show_top(bufnr, math.min(#mark.removed, max_lines + 1))
    end
  end
end

---Draws the marks of a buffer. The replaced lines are not shown where they are beside it.
---@param bufnr integer
function M.draw(bufnr)
  local entry, show, signs = shown[bufnr], require('xcsh.config').changes().show, max_signs
  local beside = require('xcsh.changes.diff').has(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for i, mark in ipairs(entry and entry.marks or {}) do
    if show ~= 'none' then
      signs = draw_signs(bufnr, mark, signs)
    end
    if show == 'lines' and not beside then
      draw_lines(bufnr, mark, hint(i, #entry.marks, mark))
    end
  end
end

---Shows the hunks of a file in its buffer. A hunk that is not where the server says is left out.
---@param bufnr integer
---@param file { cwd: string, path: string, base: string, hunks: table[] }
function M.show(bufnr, file)
  require('xcsh.highlights').define()
  vim.api.nvim_buf_clear_namespace(bufnr, places, 0, -1)
  local entry = { cwd = file.cwd, path = file.path, base = file.base, marks = {} }
  for _, hunk in ipairs(file.hunks) do
    local first, removed, added = block(hunk)
    if #removed + #added > 0 and is_there(bufnr, first, added) then
      local options = { strict = false, right_gravity = #added == 0 }
      if #added > 0 then
        options.end_row, options.end_col = first - 1 + #added, 0
        options.end_right_gravity = false
      end
      local row = math.min(first - 1, vim.api.nvim_buf_line_count(bufnr))
      table.insert(entry.marks, {
        hunk = wire.str(hunk.hunk),
        mixed = hunk.mixed == true,
        removed = removed,
        added = added,
        anchor = vim.api.nvim_buf_set_extmark(bufnr, places, row, 0, options),
      })
    end
  end
  table.sort(entry.marks, function(a, b)
    return rows(bufnr, a) < rows(bufnr, b)
  end)
  shown[bufnr] = entry
  M.draw(bufnr)
  require('xcsh.changes.keys').map(bufnr)
end

---Removes the marks of a buffer.
---@param bufnr integer
function M.clear(bufnr)
  if not shown[bufnr] then
    return
  end
  shown[bufnr] = nil
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, places, 0, -1)
    M.draw(bufnr)
    require('xcsh.changes.keys').unmap(bufnr)
    require('xcsh.changes.diff').map(bufnr)
  end
end

---Returns the hunks that are shown in a buffer.
---@param bufnr integer
---@return xcsh.changes.Shown.Hunks?
function M.of(bufnr)
  return shown[bufnr]
end

---Returns the hunks with a line in a range. A deletion has the lines around it.
---@param bufnr integer
---@param first integer from 1
---@param last integer
---@return xcsh.changes.Mark[]
function M.within(bufnr, first, last)
  local entry = shown[bufnr]
  return vim.tbl_filter(function(mark)
    local from, to = rows(bufnr, mark)
    if #mark.added == 0 then
      return from >= first - 1 and from - 1 <= last - 1
    end
    return from + 1 <= last and to >= first
  end, entry and entry.marks or {})
end

---Returns the rows of the hunks, from 1.
---@param bufnr integer
---@return integer[]
function M.rows(bufnr)
  local count = vim.api.nvim_buf_line_count(bufnr)
  return vim.tbl_map(function(mark)
    local first = rows(bufnr, mark)
    return math.max(1, math.min(#mark.added == 0 and first or first + 1, count))
  end, (shown[bufnr] or { marks = {} }).marks)
end

return M
