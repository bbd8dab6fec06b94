-- Lines with their highlights, folds, and references to approvals. Rows count from 1 within the
-- page.

local Page = {}
Page.__index = Page

---@class xcsh.chat.Page
---@field lines string[]
---@field folds { first: integer, last: integer }[]
---@field marks { row: integer, col: integer, opts: vim.api.keyset.set_extmark }[]
---@field calls table<integer, string> the approval that a row belongs to
local M = {}

---@return xcsh.chat.Page
function M.new()
  return setmetatable({ lines = {}, folds = {}, marks = {}, calls = {} }, Page)
end

---@param line string
---@param group? string highlight of the whole line
function Page:add(line, group)
  local row = #self.lines + 1
  self.lines[row] = line
  if group then
    self:mark(row, 0, { end_col = #line, hl_group = group })
  end
  return row
end

---@param row integer
---@param col integer
---@param opts vim.api.keyset.set_extmark
function Page:mark(row, col, opts)
  self.marks[#self.marks + 1] = { row = row, col = col, opts = opts }
end

---@param lines string[]
---@param group? string
function Page:add_all(lines, group)
  for _, line in ipairs(lines) do
    self:add(line, group)
  end
end

---Adds a line with a folded body below it. An empty body gets no fold.
---@param head string
---@param group string
---@param body fun()
function Page:fold(head, group, body)
  local row = self:add(head, group)
  body()
  if #self.lines > row then
    self.folds[#self.folds + 1] = { first = row, last = #self.lines }
  end
end

---Adds lines that must not be parsed as Markdown.
---@param lines string[]
---@param language? string
function Page:fenced(lines, language)
  local fence = require('xcsh.text').fence(lines)
  self:add(fence .. (language or ''), 'XcshMeta')
  local first = #self.lines + 1
  self:add_all(lines)
  self:add(fence, 'XcshMeta')
  if language == 'diff' then
    local group = require('xcsh.diff').group
    for row = first, first + #lines - 1 do
      local found = group(self.lines[row])
      if found then
        self:mark(row, 0, { line_hl_group = found })
      end
    end
  end
end

---Adds virtual text at the right end of a row.
---@param row integer
---@param text string
function Page:aside(row, text)
  if text ~= '' then
    local chunks = { { text .. ' ', 'XcshMeta' } }
    self:mark(row, 0, { virt_text = chunks, virt_text_pos = 'right_align' })
  end
end

return M
