-- Identifies the terminal that Neovim runs in, like the terminal programs do, so that they can
-- continue a session used here.

local M = {}

---Variables that identify a terminal without a device, in order of preference.
local variables = {
  { 'KITTY_WINDOW_ID', 'kitty-' },
  { 'TMUX_PANE', 'tmux-' },
  { 'TERM_SESSION_ID', 'apple-' },
  { 'WT_SESSION', 'wt-' },
}

---Returns the process that draws on the terminal. That is not this process: Neovim's UI is a client
---of the editor. Returns nil if there is no UI, or it is not a terminal.
---@return integer? pid
local function screen()
  for _, ui in ipairs(vim.api.nvim_list_uis()) do
    if ui.stdout_tty then
      local info = ui.chan and ui.chan > 0 and vim.api.nvim_get_chan_info(ui.chan) or {}
      local pid = tonumber(vim.tbl_get(info, 'client', 'attributes', 'pid'))
      -- 0.10 does not report that process. A UI connected through the standard streams is the
      -- parent process; any other one can be anywhere.
      return pid or info.stream == 'stdio' and vim.uv.os_getppid() or nil
    end
  end
end

---@param pid integer
---@return string? device such as "pts/3"
local function device_of(pid)
  local link = vim.uv.fs_readlink(('/proc/%d/fd/0'):format(pid))
  local device = link and link:match('^/dev/(pts/.+)$') or link and link:match('^/dev/(tty.+)$')
  if device or vim.uv.fs_stat('/proc/self/fd') then
    return device
  end
  local ok, ps = pcall(function()
    return vim.system({ 'ps', '-o', 'tty=', '-p', tostring(pid) }, { text = true }):wait(1000)
  end)
  local name = ok and ps.code == 0 and vim.trim(ps.stdout) or ''
  return name:find('^%w') and name or nil
end

---@param id string
local function spelled(id)
  return (id:gsub('[/\\%c]', '-'):gsub('%.%.', '--'))
end

---Returns the id of the terminal; nil if Neovim does not run in one, for example headless or in a
---GUI.
---@return string?
function M.id()
  local pid = screen()
  if not pid then
    return nil
  end
  local device = device_of(pid)
  if device then
    return spelled(device)
  end
  for _, variable in ipairs(variables) do
    local value = vim.env[variable[1]]
    if value and value ~= '' then
      return spelled(variable[2] .. value)
    end
  end
end

return M
