-- Unified diffs, highlighted in a buffer.

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_diff')

---Returns the highlight group of a diff line.
---@param line string
---@return string?
function M.group(line)
  if line:find('^@@') then
    return 'XcshDiffHunk'
  end
  local sign = line:sub(1, 1)
  if sign == '+' and not line:find('^%+%+%+ ') then
    return 'XcshDiffAdd'
  elseif sign == '-' and not line:find('^%-%-%- ') then
    return 'XcshDiffDelete'
  end
end

---Highlights a buffer that holds a diff.
---@param bufnr integer
function M.colour(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
    local group = M.group(line)
    if group then
      vim.api.nvim_buf_set_extmark(bufnr, namespace, row - 1, 0, {
        line_hl_group = group,
        end_row = row - 1,
      })
    end
  end
end

return M
