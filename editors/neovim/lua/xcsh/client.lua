-- The connection: one server per Neovim, started on first use. Each working directory that commands
-- use becomes a workspace folder of the server.

local approvals = require('xcsh.approvals')
local config = require('xcsh.config')
local engine = require('xcsh.engine')
local looking = require('xcsh.looking')
local outbox = require('xcsh.outbox')
local questions = require('xcsh.questions')
local requests = require('xcsh.requests')
local turns = require('xcsh.turns')

local M = {}

local client_id ---@type integer?
local ready = false -- the server has answered initialize
local waiting = {} ---@type fun(problem: string?)[] to be called once ready, or with why not
local running = {} ---@type table<integer, fun(err: xcsh.Error)> requests without an answer
local serial = 0

local stopping = false -- the user stops the server
local ready_at = 0 -- when it was ready, in nanoseconds

---Listeners of other modules: "notification" gets the parameters of xcsh/event and
---xcsh/sessionChanged, "read" those of xcsh/sessionState, "server" whether the server is running,
---and whether to start it again, "models" nothing: other models may be ready to use.
---@type table<'notification'|'read'|'server'|'models', fun(...)[]>
local listeners = { notification = {}, read = {}, server = {}, models = {} }

---@param about 'notification'|'read'|'server'|'models'
---@param listener fun(...)
function M.on(about, listener)
  table.insert(listeners[about], listener)
end

---@param about 'notification'|'read'|'server'|'models'
local function tell_listeners(about, ...)
  for _, listener in ipairs(listeners[about]) do
    listener(...)
  end
end

---A server that exits sooner than this is not restarted automatically, because it might exit again
---and again. In nanoseconds.
M.min_life = 2e9

-- 0.10 has client.request(…) as closures, later versions have methods. Calling a method of 0.10
-- with self would shift the arguments.
local has_methods = vim.fn.has('nvim-0.11') == 1

---@param client vim.lsp.Client
---@param name 'request'|'notify'|'stop'
local function call(client, name, ...)
  if has_methods then
    return client[name](client, ...)
  end
  return client[name](...)
end

---@return vim.lsp.Client?
local function current()
  return client_id and vim.lsp.get_client_by_id(client_id)
end

---The changedtick of each attached buffer at the last flush.
---@type table<integer, integer>
local flushed = {}

---Sends the user's changes, which Neovim otherwise holds back for 150 ms, so that the server gets
---them before the next message: an approval, for example, is for the text that the user has seen. A
---request about a buffer sends its changes; the answer is not needed.
function M.flush()
  local client = current()
  for bufnr in pairs(client and client.attached_buffers or {}) do
    local tick = vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_changedtick(bufnr)
    if client and tick and flushed[bufnr] ~= tick then
      flushed[bufnr] = tick
      local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
      call(client, 'request', 'textDocument/documentLink', params, function() end, bufnr)
    end
  end
end

---Fails all requests that wait for the server.
---@param problem string
local function fail(problem)
  local callbacks, unanswered = waiting, running
  local restart = ready and not stopping and vim.uv.hrtime() - ready_at > M.min_life
  waiting, running, ready, stopping, flushed = {}, {}, false, false, {}
  require('xcsh.changes.pending').forget()
  turns.forget()
  approvals.forget()
  questions.forget()
  require('xcsh.choices').forget()
  engine.forget()
  require('xcsh.team').forget()
  for _, callback in ipairs(callbacks) do
    callback(problem)
  end
  for _, callback in pairs(unanswered) do
    callback({ message = problem })
  end
  tell_listeners('server', false, restart)
end

---@param event string
local function forward(event)
  return function(_, params)
    vim.api.nvim_exec_autocmds('User', { pattern = event, modeline = false, data = params })
  end
end

local tell_event = forward('XcshEvent')
local tell_session = forward('XcshSessionChanged')
local tell_state = forward('XcshSessionState')

---Allows the operation: the server asks every client that has ui.hooks.
local function agree()
  return vim.empty_dict()
end

local handlers = {
  ['workspace/applyEdit'] = requests.apply_edit,
  ['xcsh/save'] = requests.save,
  ['xcsh/context'] = requests.context,
  ['window/showMessageRequest'] = requests.question,
  ['window/showMessage'] = requests.message,
  ['window/showDocument'] = requests.document,
  ['workspace/textDocumentContent/refresh'] = function(err, params)
    return require('xcsh.team.follow').on_refresh(err, params)
  end,
  ['xcsh/beforeSwitch'] = agree,
  ['xcsh/beforeFork'] = agree,
  ['xcsh/beforeTree'] = agree,
  ['xcsh/beforeCompact'] = agree,
  ['xcsh/beforeRewind'] = agree,
  ['xcsh/approve'] = function(_, params)
    local answer = approvals.ask(params)
    M.flush()
    return answer
  end,
  ['xcsh/sessionChanged'] = function(err, params)
    engine.learn(params.cwd, params)
    require('xcsh.changes.pending').follow(params)
    tell_listeners('notification', params)
    tell_session(err, params)
  end,
  ['xcsh/sessionState'] = function(err, params)
    engine.learn(params.cwd, params)
    tell_listeners('read', params)
    require('xcsh.results').read(params)
    tell_state(err, params)
  end,
  ['xcsh/modelsChanged'] = function()
    tell_listeners('models')
  end,
  ['xcsh/sessionsChanged'] = forward('XcshSessionsChanged'),
  ['xcsh/event'] = function(err, params)
    if params.event.type == 'approvals_changed' then
      approvals.follow(params.cwd, params.event.approvals)
    elseif params.event.type == 'foreign_branch' then
      require('xcsh.foreign').follow(params.cwd, params.event)
    end
    engine.follow(params)
    require('xcsh.buffers').follow(params)
    require('xcsh.changes.pending').follow(params)
    questions.follow(params)
    require('xcsh.choices').follow(params)
    require('xcsh.team').follow(params)
    tell_listeners('notification', params)
    -- Users' autocommands run last, because they may fail.
    turns.follow(params)
    tell_event(err, params)
  end,
}

for _, name in ipairs(require('xcsh.senses').requests) do
  handlers['xcsh/editor/' .. name] = function(_, params, ctx)
    return require('xcsh.senses').answer(name, params, ctx)
  end
end

---The options of a buffer that Neovim sets when a language server is attached, and its mapping.
local attach_options = { 'tagfunc', 'omnifunc', 'formatexpr' }

---Attaches a buffer. Neovim then maps K and sets options for what the server can do, but this
---server does it for session files only: elsewhere they stay as they are, or free for others.
---@param bufnr integer
---@param id integer
---@param is_session boolean
local function attach_quietly(bufnr, id, is_session)
  if is_session then
    return vim.lsp.buf_attach_client(bufnr, id)
  end
  local function hover_key()
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(bufnr, 'n')) do
      if map.lhs == 'K' then
        return map
      end
    end
  end
  local mapped, before = hover_key(), {}
  for _, option in ipairs(attach_options) do
    before[option] = vim.bo[bufnr][option]
  end
  vim.lsp.buf_attach_client(bufnr, id)
  for _, option in ipairs(attach_options) do
    vim.bo[bufnr][option] = before[option]
  end
  if not mapped and hover_key() then
    vim.keymap.del('n', 'K', { buffer = bufnr })
  end
end

---Attaches the buffers that the server needs: files in its folders, whose unsaved text takes
---precedence over the disk, and session files.
---@param bufnr integer
function M.attach(bufnr)
  local client = current()
  local path = vim.api.nvim_buf_get_name(bufnr)
  if not client or not vim.api.nvim_buf_is_loaded(bufnr) or looking.is_hidden(bufnr) then
    return
  end
  if vim.bo[bufnr].buftype ~= '' or path == '' or path:find('^%a[%w+.-]+://') then
    return
  end
  local wanted = path:find('%.jsonl$') ~= nil
  for _, folder in ipairs(client.workspace_folders or {}) do
    local root = vim.uri_to_fname(folder.uri):gsub('/*$', '/')
    wanted = wanted or vim.startswith(path, root)
  end
  if wanted then
    attach_quietly(bufnr, client.id, path:find('%.jsonl$') ~= nil)
    flushed[bufnr] = flushed[bufnr] or vim.api.nvim_buf_get_changedtick(bufnr)
  end
end

local function attach_all()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(bufnr)
  end
end

---@param root string
---@return lsp.WorkspaceFolder
local function folder_of(root)
  return { uri = vim.uri_from_fname(root), name = root }
end

---@param client vim.lsp.Client
---@param root string
local function add_folder(client, root)
  local folder = folder_of(root)
  client.workspace_folders = client.workspace_folders or {}
  for _, known in ipairs(client.workspace_folders) do
    if known.uri == folder.uri then
      return
    end
  end
  table.insert(client.workspace_folders, folder)
  local event = { added = { folder }, removed = {} }
  call(client, 'notify', 'workspace/didChangeWorkspaceFolders', { event = event })
  attach_all()
end

local function on_init()
  ready, ready_at = true, vim.uv.hrtime()
  tell_listeners('server', true)
  local group = vim.api.nvim_create_augroup('xcsh_attach', {})
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost' }, {
    group = group,
    callback = function(event)
      M.attach(event.buf)
    end,
  })
  -- A buffer that was loaded only for a look is now the user's.
  vim.api.nvim_create_autocmd({ 'BufWinEnter', 'BufModifiedSet' }, {
    group = group,
    callback = function(event)
      looking.seen(event.buf, M.attach)
    end,
  })
  looking.follow()
  attach_all()
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

---The exit status of the last server.
local exit_code = 0

---@param id integer
local function on_exit(_, _, id)
  local code = exit_code
  vim.schedule(function()
    if id ~= client_id then
      return
    end
    client_id = nil
    pcall(vim.api.nvim_del_augroup_by_name, 'xcsh_attach')
    local problem = ('The xcsh-ls server exited with status %d. See :checkhealth xcsh.'):format(
      code
    )
    local silent = stopping or code == 0 or #waiting > 0 or next(running) ~= nil
    fail(problem)
    if not silent then
      require('xcsh.view').notify(problem, vim.log.levels.WARN)
    end
  end)
end

---Returns a function that runs the server. Neovim's own message about an exit status fills more
---than the command line, and would wait for a key; on_exit reports the status instead.
---@param cmd string[]|fun(dispatchers: table): table
local function server(cmd)
  return function(dispatchers)
    local tell = dispatchers.on_exit
    local own = vim.tbl_extend('force', dispatchers, {
      on_exit = function(code)
        exit_code = code
        tell(0, 0)
      end,
    })
    if type(cmd) == 'function' then
      return outbox.wrap(cmd(own))
    end
    return outbox.wrap(vim.lsp.rpc.start(cmd, own))
  end
end

---@param root string
local function start(root)
  local cmd, problem = config.command()
  if not cmd then
    return fail(problem --[[@as string]])
  end
  -- 0.10 cannot start a client without attaching the current buffer, which can be any buffer; later
  -- versions deprecate the function that can.
  local start_client = vim.lsp.start_client
  if has_methods then
    start_client = function(client_config)
      return vim.lsp.start(client_config, {
        attach = false,
        -- A client of the same name that another configuration started lacks the handlers.
        reuse_client = function()
          return false
        end,
      })
    end
  end
  -- Neovim supports versioned document edits, but does not announce that capability.
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.workspaceEdit.documentChanges = true
  -- Only sessions of the team store are shown so; see requests.document.
  capabilities.workspace.textDocumentContent = { dynamicRegistration = false }
  client_id = start_client({
    name = 'xcsh',
    cmd = server(cmd),
    capabilities = capabilities,
    workspace_folders = { folder_of(root) },
    init_options = vim.tbl_deep_extend('keep', {
      ui = { pick = true, hooks = true, save = true, editor = require('xcsh.senses').requests },
      lateValues = true,
      contextKinds = require('xcsh.context').kinds,
    }, config.options.init_options or {}, { terminalId = config.terminal_id() }),
    handlers = handlers,
    on_init = on_init,
    on_exit = on_exit,
    on_error = function(_, err)
      if not ready then
        -- The process may not be xcsh-ls at all, and would run forever.
        vim.schedule(function()
          call(assert(current()), 'stop', true)
          fail("Couldn't start the xcsh-ls server: " .. tostring(err))
        end)
      end
    end,
  })
  if not client_id then
    fail(('Couldn\'t start the server "%s".'):format(cmd[1]))
  end
end

---@param root string
---@param callback fun(problem: string?)
local function when_ready(root, callback)
  if ready and current() then
    return callback()
  end
  table.insert(waiting, callback)
  if #waiting == 1 then
    start(root)
  end
end

---Runs a function whose messages to the server contain a key, which must not get into the log of
---Neovim's language client, whatever its level is.
---@param send fun(): boolean
---@return boolean
local function unlogged(send)
  local log = require('vim.lsp.log')
  local level = log.get_level()
  log.set_level(vim.log.levels.OFF)
  local ok, sent = pcall(send)
  log.set_level(level)
  return ok and sent
end

---Runs a command of the server. The callback is always called, even if there is no server or it
---exits meanwhile.
---@param name string
---@param args table<string, any> a cwd in it, path or URI, goes before the current directory
---@param callback fun(err: xcsh.Error?, result: any)
function M.execute(name, args, callback)
  local root = args.cwd or config.root()
  if vim.startswith(root, 'file:') then
    root = vim.uri_to_fname(root)
  end
  local refusal = engine.refusal(root, name, args)
  if refusal then
    return callback({ message = refusal, data = { kind = 'denied' } })
  end
  when_ready(root, function(problem)
    if problem then
      return callback({ message = problem })
    end
    local client = assert(current())
    add_folder(client, root)
    M.flush()
    serial = serial + 1
    local id = serial
    running[id] = callback
    local params = {
      command = name,
      arguments = { vim.tbl_extend('force', args, { cwd = root }) },
    }
    local function send()
      return call(client, 'request', 'workspace/executeCommand', params, function(err, result)
        if running[id] then
          running[id] = nil
          engine.learn(root, result)
          callback(err, result)
        end
      end)
    end
    local sent
    if args.key then
      sent = unlogged(send)
    else
      sent = send()
    end
    if not sent then
      running[id] = nil
      callback({ message = 'The xcsh-ls server has stopped.' })
    end
  end)
end

---Sends a request to the running server. Without one, or if it ends, the callback is not called.
---@param method string
---@param params table
---@param callback fun(err: xcsh.Error?, result: any)
function M.request(method, params, callback)
  local client = M.get()
  if client then
    call(client, 'request', method, params, callback)
  end
end

---Starts the server if it is not running, and calls back once it is, or with the reason why not.
---@param root string
---@param callback fun(problem: string?)
function M.ready(root, callback)
  when_ready(root, callback)
end

---Reports whether the running server has a command. One of another version than the plugin may not.
---@param name string
function M.can(name)
  local client = M.get()
  local provider = client and client.server_capabilities.executeCommandProvider
  return provider ~= nil and vim.tbl_contains(provider.commands or {}, name)
end

---Returns the running client, for :checkhealth and users' scripts.
---@return vim.lsp.Client?
function M.get()
  return ready and current() or nil
end

---Stops the server; the next command starts a new one.
function M.stop()
  local client = current()
  if client then
    stopping = true
    call(client, 'stop')
  end
end

return M
