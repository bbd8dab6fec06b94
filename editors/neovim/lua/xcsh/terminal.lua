-- The terminal that Neovim runs in, named as the terminal programs name theirs, so that
-- what is begun here goes on there.

local M = {}

---What names a terminal that has no device, in the order of preference.
local variables = {
  { 'KITTY_WINDOW_ID', 'kitty-' },
  { 'TMUX_PANE', 'tmux-' },
  { 'TERM_SESSION_ID', 'apple-' },
  { 'WT_SESSION', 'wt-' },
}

---The process that draws on the terminal. It is not this one: Neovim's screen is a client
---of the editor, and nil when there is none or it is no terminal.
---@return integer? pid
local function screen()
  for _, ui in ipairs(vim.api.nvim_list_uis()) do
    if ui.stdout_tty then
      local info = ui.chan and ui.chan > 0 and vim.api.nvim_get_chan_info(ui.chan) or {}
      local pid = tonumber(vim.tbl_get(info, 'client', 'attributes', 'pid'))
      -- 0.10 does not say which process it is. That at the other end of the standard
      -- streams is the one that started this one; any other may be anywhere.
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

---The id of the terminal; nil when Neovim runs in none, as without a screen or in a
---program with windows of its own.
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
