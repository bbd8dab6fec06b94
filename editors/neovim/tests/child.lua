-- A separate Neovim with a typing user: keys go through its input queue, like those of a terminal.
-- The child knows nothing about the plugin except its commands.

local runner = require('runner')

local M = {}

---@class Child
---@field channel integer
---@field process vim.SystemObj
local Child = {}
Child.__index = Child

---@param file string the file to edit
---@return Child
function M.start(file)
  local init = debug.getinfo(1, 'S').source:sub(2):gsub('[^/]+$', 'init.lua')
  local socket = vim.fn.tempname()
  local cmd = { vim.env.XCSH_TEST_NVIM, '--headless', '--listen', socket, '-n', '-i', 'NONE' }
  local process = vim.system(vim.list_extend(cmd, { '-u', init, file }))
  local channel = runner.wait('another Neovim', function()
    local ok, id = pcall(vim.fn.sockconnect, 'pipe', socket, { rpc = true })
    return ok and id > 0 and id
  end)
  local self = setmetatable({ channel = channel, process = process }, Child)
  return self
end

---@param code string a chunk of Lua
function Child:lua(code, ...)
  return vim.rpcrequest(self.channel, 'nvim_exec_lua', code, { ... })
end

---Types, and waits until the keys are consumed and Neovim is not waiting for another one.
---@param keys string
function Child:type(keys)
  vim.rpcrequest(self.channel, 'nvim_input', keys)
  runner.wait('the keys to be used', function()
    return not vim.rpcrequest(self.channel, 'nvim_get_mode').blocking
  end)
  self:lua('return 1')
end

---@param name string of a buffer
function Child:lines(name)
  return self:lua('return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)', name)
end

---Returns the target of the next keys: the mode, the file and whether the window floats.
function Child:place()
  return self:lua([[return {
    vim.api.nvim_get_mode().mode, vim.fn.expand('%:t'),
    vim.api.nvim_win_get_config(0).relative,
  }]])
end

---@param what string
---@param code string a chunk of Lua that returns a condition
function Child:wait(what, code)
  return runner.wait(what, function()
    -- The child answers no other request while it waits for a key.
    if vim.rpcrequest(self.channel, 'nvim_get_mode').blocking then
      return true
    end
    local value = self:lua(code)
    return value ~= vim.NIL and value
  end)
end

function Child:stop()
  pcall(vim.rpcnotify, self.channel, 'nvim_command', 'qall!')
  self.process:wait(5000)
end

return M
