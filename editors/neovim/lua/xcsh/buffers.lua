-- Keeps buffers and files equal around commands: saves the agent's edits before one on the server's
-- request, and reloads files that one has changed.

local M = {}

---@param reason string
local function refused(reason)
  return { saved = false, failureReason = reason }
end

---Saves a buffer as the server knows it.
---@param uri string
---@param version number
---@return { saved: boolean, failureReason?: string }
function M.save(uri, version)
  local bufnr = vim.uri_to_bufnr(uri)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return refused('The buffer is not loaded.')
  elseif vim.lsp.util.buf_versions[bufnr] ~= version then
    return refused('The buffer has changed.')
  elseif not vim.bo[bufnr].modified then
    return { saved = true }
  elseif vim.bo[bufnr].readonly or not vim.bo[bufnr].modifiable or vim.bo[bufnr].buftype ~= '' then
    return refused('The buffer is read-only.')
  end
  -- The bang, because Neovim would ask about a file with a newer time. The server has compared its
  -- content.
  local ok, problem = pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd('silent keepalt write!')
  end)
  if not ok or vim.bo[bufnr].modified then
    return refused(ok and 'The buffer was not written.' or tostring(problem))
  end
  return { saved = true }
end

---Loads a file for the server, which then gets its text, without showing it.
---@param uri string
---@return boolean
function M.load(uri)
  local path = vim.startswith(uri, 'file:') and vim.uri_to_fname(uri) or ''
  if path == '' or vim.fn.filereadable(path) == 0 then
    return false
  end
  local bufnr = vim.uri_to_bufnr(uri)
  local hidden = require('xcsh.looking').release(bufnr)
  if not pcall(vim.fn.bufload, bufnr) or not vim.api.nvim_buf_is_loaded(bufnr) then
    return false
  end
  vim.bo[bufnr].buflisted = true
  if hidden then
    require('xcsh.client').attach(bufnr)
  end
  return true
end

---@param bufnr integer
local function reloads(bufnr)
  local own = vim.bo[bufnr].autoread -- nil if the global value applies
  return own == nil and vim.go.autoread or own
end

---Reloads unmodified buffers whose files have changed. Neovim would ask about others, so that they
---wait for the user.
function M.reload()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local is_file = vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == ''
    -- Neovim reports a file that is gone as an error; its buffer stays.
    local is_there = is_file and vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
    if is_there and not vim.bo[bufnr].modified and reloads(bufnr) then
      pcall(vim.cmd, 'silent! checktime ' .. bufnr)
    end
  end
end

---The tools of which it is known that they run no command.
local quiet = { read = true, ls = true, find = true, grep = true }

---@param params xcsh.Event
function M.follow(params)
  local event = params.event
  local ended = event.type == 'bash_execution_end' or event.type == 'agent_end'
  if ended or event.type == 'rewound' then
    M.reload()
  elseif event.type == 'tool_execution_end' and not quiet[event.toolName] then
    M.reload()
  end
end

return M
