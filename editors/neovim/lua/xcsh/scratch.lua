-- Texts in buffers without a file: no file type plugin or language server takes them for a file.

local M = {}

---@class xcsh.scratch.Form how a text becomes lines of a buffer, and again a text
---@field bom string
---@field line_end string
---@field eol boolean

---@param text string
---@return xcsh.scratch.Form form, string[] lines
function M.split(text)
  local form = { bom = text:match('^\239\187\191') or '' }
  text = text:sub(#form.bom + 1)
  local _, breaks = text:gsub('\n', '')
  local _, pairs_of_two = text:gsub('\r\n', '')
  form.line_end = breaks > 0 and breaks == pairs_of_two and '\r\n' or '\n'
  form.eol = text == '' or text:find('\n$') ~= nil
  local lines = vim.split(text, form.line_end, { plain = true })
  if form.eol then
    table.remove(lines)
  end
  return form, lines
end

---@param bufnr integer
---@param form xcsh.scratch.Form
---@return string
function M.joined(bufnr, form)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
  if #lines == 1 and lines[1] == '' then
    return form.bom
  end
  local text = form.bom .. table.concat(lines, form.line_end)
  return form.eol and text .. form.line_end or text
end

---@param bufnr integer
---@param path string
local function colour(bufnr, path)
  local filetype = vim.filetype.match({ filename = path, buf = bufnr })
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  if not (language and pcall(vim.treesitter.start, bufnr, language)) then
    vim.bo[bufnr].syntax = filetype or ''
  end
end

---Replaces the lines, which cannot be undone.
---@param bufnr integer
---@param lines string[]
function M.fill(bufnr, lines)
  local modifiable = vim.bo[bufnr].modifiable
  vim.bo[bufnr].modifiable = true
  vim.bo[bufnr].undolevels = -1
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].undolevels = vim.go.undolevels
  vim.bo[bufnr].modified = false
  vim.bo[bufnr].modifiable = modifiable
end

---Returns a new buffer with the highlighting of a file.
---@param name string
---@param lines string[]
---@param path string
---@return integer bufnr
function M.new(name, lines, path)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].bufhidden = 'wipe'
  M.fill(bufnr, lines)
  colour(bufnr, path)
  return bufnr
end

---Shows the differences of windows.
---@param windows integer[]
function M.compare(windows)
  for _, window in ipairs(windows) do
    vim.api.nvim_win_call(window, function()
      vim.cmd('diffthis')
    end)
    vim.wo[window].foldcolumn = '0'
  end
end

return M
