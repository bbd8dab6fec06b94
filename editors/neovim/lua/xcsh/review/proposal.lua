-- A proposed change of one file: its text before and after, and the hunks between them. The
-- approval has the change as a unified diff; it applies only to the text that it was made from.

local wire = require('xcsh.wire')

local M = {}

local compare = vim.text and vim.text.diff or vim.diff

---Longer texts are not reviewed by hunk.
local max_text = 16 * 1024 * 1024 -- bytes

---@class xcsh.review.Hunk lines from 1
---@field first integer the first replaced line; for an insertion, the line that it precedes
---@field old string[] with line ends
---@field new string[] with line ends

---@class xcsh.review.Proposal
---@field path string
---@field name string for the user
---@field before string
---@field after string
---@field hunks xcsh.review.Hunk[]
---@field revisable boolean the server accepts another text
---@field bom boolean the file begins with a byte order mark
local Proposal = {}
Proposal.__index = Proposal

---Splits a text into lines with their ends.
---@param text string
---@return string[]
function M.lines(text)
  local lines = {}
  for line in text:gmatch('[^\n]*\n?') do
    if line ~= '' then
      lines[#lines + 1] = line
    end
  end
  return lines
end

---Returns the text of a loaded buffer as the server knows it.
---@param bufnr integer
---@return string
function M.text_of(bufnr)
  local ends = { unix = '\n', dos = '\r\n', mac = '\r' }
  local line_end = ends[vim.bo[bufnr].fileformat] or '\n'
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), line_end)
  return vim.bo[bufnr].eol and text .. line_end or text
end

---Returns the checksum of a text, as the server computes it.
---@param text string
---@return string
function M.sum(text)
  local ok, sum = pcall(vim.fn.sha256, text)
  return ok and sum or ''
end

---@param path string
---@return integer? bufnr of a loaded buffer
function M.buffer(path)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr) == path then
      return bufnr
    end
  end
end

---Returns the text of a file, from the editor if it is open there; "" for a file that is missing.
---@param path string
---@return string?
local function text_at(path)
  local bufnr = M.buffer(path)
  if bufnr then
    return M.text_of(bufnr)
  end
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return ''
  elseif stat.type ~= 'file' or stat.size > max_text then
    return nil
  end
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  return text
end

---Applies a unified diff; nil if the text is not the one that it was made from.
---@param text string
---@param diff string
---@return string?
function M.apply(text, diff)
  local old, result, at = M.lines(text), {}, 1
  local lines = M.lines(diff)
  local i, hunks = 1, 0
  while i <= #lines do
    local first, count = lines[i]:match('^@@ %-(%d+),?(%d*) %+%d+,?%d* @@')
    if not first then
      -- Only the header of the diff is outside of its hunks.
      if hunks > 0 or not lines[i]:find('^[-+][-+][-+] ') then
        return nil
      end
      i = i + 1
    else
      hunks, i = hunks + 1, i + 1
      -- For an empty range, the number is that of the preceding line.
      local start = tonumber(first) + (count == '0' and 1 or 0)
      if start < at or start > #old + 1 then
        return nil
      end
      vim.list_extend(result, old, at, start - 1)
      at = start
      while i <= #lines and not lines[i]:find('^@@ ') do
        local sign, line = lines[i]:sub(1, 1), lines[i]:sub(2)
        if (lines[i + 1] or ''):find('^\\') then
          line, i = line:gsub('\n$', ''), i + 1
        end
        if sign == ' ' or sign == '-' then
          if old[at] ~= line then
            return nil
          end
          at = at + 1
        elseif sign ~= '+' then
          return nil
        end
        if sign ~= '-' then
          result[#result + 1] = line
        end
        i = i + 1
      end
    end
  end
  if hunks == 0 then
    return nil
  end
  vim.list_extend(result, old, at)
  return table.concat(result)
end

---@param before string
---@param after string
---@return xcsh.review.Hunk[]
local function hunks_between(before, after)
  local old, new = M.lines(before), M.lines(after)
  local hunks = {}
  for _, at in
    ipairs(compare(before, after, { result_type = 'indices' }) --[[@as integer[][] ]])
  do
    local old_first, old_count, new_first, new_count = unpack(at)
    hunks[#hunks + 1] = {
      first = old_count == 0 and old_first + 1 or old_first,
      old = vim.list_slice(old, old_first, old_first + old_count - 1),
      new = vim.list_slice(new, new_first, new_first + new_count - 1),
    }
  end
  return hunks
end

---Reports whether Neovim shows a text as it is: UTF-8 without a NUL.
---@param text string
local function is_text(text)
  local rest = text:gsub('[\240-\244][\128-\191][\128-\191][\128-\191]', ' ')
  rest = rest:gsub('[\224-\239][\128-\191][\128-\191]', ' ')
  rest = rest:gsub('[\194-\223][\128-\191]', ' ')
  return not rest:find('[%z\128-\255]')
end

---Returns the proposal of an approval; nil if it is no change of one text file, or of another text
---than that of the file now.
---@param params xcsh.Approval
---@return xcsh.review.Proposal?
function M.of(params)
  local path, diff = wire.texts(params.paths)[1], wire.str(params.diff)
  if diff == '' or #wire.texts(params.paths) ~= 1 or params.tool == 'exit_plan_mode' then
    return nil
  end
  local before = text_at(path)
  local base = wire.str(params.base)
  if not before or base ~= '' and M.sum(before) ~= base then
    return nil
  end
  local after = M.apply(before, diff)
  if not after or not is_text(before) or not is_text(after) then
    return nil
  end
  local root = (wire.str(params.cwd):gsub('/*$', '/'))
  return setmetatable({
    path = path,
    name = vim.startswith(path, root) and path:sub(#root + 1) or path,
    before = before,
    after = after,
    hunks = hunks_between(before, after),
    revisable = base ~= '',
    bom = vim.startswith(before, '\239\187\191'),
  }, Proposal)
end

---Returns the proposal for another text of the file, such as one with unsaved changes of the user.
---@param before string
---@param after string
---@return xcsh.review.Proposal
function Proposal:rebased(before, after)
  local other = { before = before, after = after, hunks = hunks_between(before, after) }
  return vim.tbl_extend('keep', other, self)
end

return M
